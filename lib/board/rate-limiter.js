const MOST_KNOWN = 1_000; // then the key that was used longest ago is forgotten

/**
 * A token bucket for each key.
 * @param {{ most: number, perSecond: number, now?: () => number }} options  most: at once, the bucket's size; now: in ms
 * @returns {{ take: (key: string) => boolean, isEmpty: (key: string) => boolean }}  take: false if no token is left
 */
export function createRateLimiter({ most, perSecond, now = () => performance.now() }) {
  /** @type {Map<string, { tokens: number, sinceMs: number }>} */
  const buckets = new Map();
  const tokensOf = (key) => {
    const bucket = buckets.get(key);
    if (!bucket) return most;
    return Math.min(most, bucket.tokens + ((now() - bucket.sinceMs) * perSecond) / 1_000);
  };
  return {
    take(key) {
      const tokens = tokensOf(key);
      const isAllowed = tokens >= 1;
      buckets.delete(key);
      buckets.set(key, { tokens: isAllowed ? tokens - 1 : tokens, sinceMs: now() });
      if (buckets.size > MOST_KNOWN) buckets.delete(String(buckets.keys().next().value));
      return isAllowed;
    },
    isEmpty: (key) => tokensOf(key) < 1,
  };
}
