"""Rules for the body of a chat completion: parameters and conversation, refused in hosted words.

Promises that a body which passes holds nothing that would be ignored in silence, the documented
hints aside (`openapi/DEVIATIONS.md`). Must not know models or engines: what one engine lacks, that
engine refuses.
"""
