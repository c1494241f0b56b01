import { watch } from 'node:fs';
import { join } from 'node:path';

const DEBOUNCE_MS = 60; // editors save in several steps

/**
 * Watches the lessons' folders for saved programs; not the files, because many editors replace a file when they save.
 * @param {string} root @param {import('../lessons/catalog.js').Lesson[]} lessons
 * @param {(lesson: import('../lessons/catalog.js').Lesson, file: string) => void} onSave @returns {{ close(): void }}
 */
export function watchLessons(root, lessons, onSave) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const watchers = lessons.map((lesson) =>
    watch(join(root, 'lessons', lesson.key), (event, file) => {
      if (!file || !/\.[cm]?js$/.test(file) || file.startsWith('.')) return;
      clearTimeout(timer);
      timer = setTimeout(onSave, DEBOUNCE_MS, lesson, file);
    }),
  );
  return {
    close() {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}
