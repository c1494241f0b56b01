// As root, nginx would run its worker as another user, who may not enter our folder.
const user = process.getuid?.() === 0 ? 'user root;' : '';

// The text of an nginx.conf: nginx listens on 127.0.0.1, at `port`, and passes each request on to
// one of the `backends`, such as '127.0.0.1:40123'.
export function nginxConf({ port, backends, folder }) {
  // nginx stays our child, and writes only into our folder and to stderr. By default it takes /run and /var.
  const top = `${user}
daemon off;
worker_processes 1;
worker_shutdown_timeout 5s;
pid "${folder}/nginx.pid";
error_log stderr;`;
  const files = `access_log off;
  client_body_temp_path "${folder}/body";
  proxy_temp_path "${folder}/proxy";
  fastcgi_temp_path "${folder}/fastcgi";
  uwsgi_temp_path "${folder}/uwsgi";
  scgi_temp_path "${folder}/scgi";`;

  // #region conf
  // Task 1: what nginx has to know besides these lines: an upstream with all backends, and a server.
  return `${top}

events {}

http {
  ${files}
}
`;
  // #endregion conf
}
