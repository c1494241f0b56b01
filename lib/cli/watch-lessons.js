import { watch } from 'node:fs';
import { join } from 'node:path';

const SETTLE_MS = 60; // editors write in several steps: one save is one check

/**
 * Watches the lessons' folders for programs that are saved. Folders are watched, not files: many editors replace a
 * file with another of the same name.
 *
 * @param {string} root
 * @param {import('../lessons/catalog.js').Lesson[]} lessons
 * @param {(lesson: import('../lessons/catalog.js').Lesson, file: string) => void} onSave
 * @returns {{ close(): void }}
 */
export function watchLessons(root, lessons, onSave) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const watchers = lessons.map((lesson) =>
    watch(join(root, 'lessons', lesson.key), (event, file) => {
      if (!file || !/\.[cm]?js$/.test(file) || file.startsWith('.')) return;
      clearTimeout(timer);
      timer = setTimeout(onSave, SETTLE_MS, lesson, file);
    }),
  );
  return {
    close() {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}
