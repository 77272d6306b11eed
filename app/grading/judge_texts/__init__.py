"""The answers of judges: JSON and scores in words, read without the quotations in them."""
