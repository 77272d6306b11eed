// The API reference was at /docs, with the operation behind the hash sign: such links lead to it.
if (location.hash.startsWith("#/") && /\/docs\/?$/.test(location.pathname)) {
  location.replace(`reference/${location.hash}`);
}
