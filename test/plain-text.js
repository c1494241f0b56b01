/**
 * What a reader sees of some HTML of ours: without its tags, blanks as they are.
 * @param {string} html
 */
export const plainText = (html) =>
  html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&quot;', '"')
    .replace(/&#(?:39|x27);/g, "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
