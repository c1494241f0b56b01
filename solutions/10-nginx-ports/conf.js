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
  const servers = backends.map((address) => `    server ${address} fail_timeout=1s;`);
  return `${top}

events {}

http {
  ${files}

  upstream backends {
${servers.join('\n')}
    keepalive 16; # keep connections to the servers: the default since nginx 1.29.7
    keepalive_timeout 4s; # before a Node.js server closes it, after 5 s
  }

  server {
    listen 127.0.0.1:${port};

    location / {
      proxy_pass http://backends;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }
  }
}
`;
  // #endregion conf
}
