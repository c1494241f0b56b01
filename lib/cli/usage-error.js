// The class lives outside lib/cli because the catalog throws it too, and nobody may import cli.
export { UsageError } from '../usage-error.js';
