/** Paths of a lesson's parts, from the root. @param {string} key  NN-slug */
export const lessonPaths = (key) => ({
  text: `lessons/${key}/README.md`,
  about: `lessons/${key}/lesson.yml`,
  mine: `lessons/${key}`,
  solution: `solutions/${key}`,
  checks: `checks/${key}`,
  check: `checks/${key}/check.js`,
  hints: `checks/${key}/hints.md`,
  starter: `checks/${key}/starter`,
  experiments: `checks/${key}/experiments.js`,
  slides: `slides/${key}/slides.md`,
  demos: `slides/${key}/demos.js`,
});
