/**
 * The visible text of some HTML of ours: without tags, blanks unchanged.
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
