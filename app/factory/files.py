"""Builds the services of a project's files."""

from app.factory.tenant import TenantServices
from app.services.files.files import FileService
from app.services.files.row_files import RowFiles
from app.services.files.uploads import UploadService


class FileServices(TenantServices):
    def files(self) -> FileService:
        return FileService(self._context.database, self._context.objects, self._tenant)

    def row_files(self) -> RowFiles:
        return RowFiles(self.files())

    def uploads(self) -> UploadService:
        return UploadService(self._context.database, self._context.objects, self._tenant)
