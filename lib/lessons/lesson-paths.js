/**
 * Where the parts of a lesson are: in four folders that are named by its key.
 * @param {string} key  NN-slug
 * @returns paths from the root
 */
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
