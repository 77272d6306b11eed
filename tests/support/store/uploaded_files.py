"""Files as an upload leaves them, for tests whose subject is not the upload."""

import hashlib

from app.kit.ids import new_id
from tests.support.stack import Database

_INSERT = """
    INSERT INTO files (id, project_id, filename, purpose, bytes, sha256, object_key, status)
    VALUES (%s, %s, 'rows.jsonl', 'fine-tune', %s, %s, %s, 'processed')
"""


def uploaded(database: Database, project_id: str, content: bytes) -> str:
    """Returns the id of a file with the content, in the database and in the folder of objects."""
    file_id = new_id("file-")
    key = f"projects/{project_id}/files/{file_id}"
    path = database.settings.objects_dir / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    values = file_id, project_id, len(content), hashlib.sha256(content).hexdigest(), key
    database.connection.execute(_INSERT, values, prepare=True)
    return file_id
