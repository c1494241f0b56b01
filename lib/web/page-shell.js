/** The HTML around the body of each page, without inline scripts or styles (strict CSP). */
import { escapeHtml } from './code.js';

/** The style sheets that others use, linked so that the browser finds them at once. */
const ON_EVERY_PAGE = ['web/client/fonts.css', 'web/client/colours.css'];

/**
 * @typedef {object} Setting  of a page, besides its body
 * @property {string} [token]  for requests that start a process; none in a static export
 * @property {boolean} [isStatic]  demos play their recordings
 * @property {string} [plan]  the name of the day; default: the whole deck
 * @property {string} [base]  where /deck/client, /web/client, /fonts and /reveal are found; default '/'
 */

/**
 * @param {string} title @param {Setting} setting
 * @param {{ styles: string[], script: string, body: string, bodyClass?: string }} parts  body: HTML @returns {string}
 */
export function page(
  title,
  { token = '', isStatic = false, plan = '', base = '/' },
  { styles, script, body, bodyClass = '' },
) {
  const links = [...ON_EVERY_PAGE, ...styles]
    .map((href) => `<link rel="stylesheet" href="${base}${href}">`)
    .join('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="token" content="${escapeHtml(token)}">
${isStatic ? `<meta http-equiv="Content-Security-Policy" content="${contentPolicy}">` : ''}
<title>${escapeHtml(title)}</title>
<link rel="preload" as="font" type="font/woff2" href="${base}fonts/inter.woff2" crossorigin>
<link rel="icon" href="${base}web/client/icon.svg">
${links}
<script type="module" src="${base}${script}"></script>
</head>
<body class="${bodyClass}" data-plan="${plan}"${isStatic ? ' data-static' : ''}>
${body}
</body>
</html>
`;
}

/** JSON that can't end the script element around it. */
export const asData = (value) => JSON.stringify(value).replaceAll('<', '\\u003c');

/** Only this origin, nothing inline. */
export const contentPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'";
