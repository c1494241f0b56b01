// As root, nginx would run its worker as another user, who may not enter our folder.
const user = process.getuid?.() === 0 ? 'user root;' : '';

// The text of an nginx.conf: nginx listens on 127.0.0.1, at `port`, and passes each request on to
// one of the `backends`, such as '127.0.0.1:40123'. Whatever it writes goes into `folder`.
export function nginxConf({ port, backends, folder }) {
  // #region conf
  // Task 1: everything that nginx has to know. Backends that die, and come back, are task 3.
  return `${user}
daemon off;
`;
  // #endregion conf
}
