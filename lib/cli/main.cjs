// The entry of every command. This file alone must run on any Node.js, however old, to say which
// one is needed: so it is ES5, and its requires have no "node:" prefix. The rest is dispatch.js.
'use strict';

var fs = require('fs');
var path = require('path');

var root = path.join(__dirname, '..', '..');
var manifest = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));

function isOlder(version, wanted) {
  var have = version.split('.').map(Number);
  var need = wanted.split('.').map(Number);
  for (var i = 0; i < need.length; i += 1) {
    if (have[i] !== need[i]) return have[i] < need[i];
  }
  return false;
}

// Understands the two forms that package.json uses: "^20.19.0 || >=22.12.0".
function isWanted(version) {
  return manifest.engines.node.split('||').some(function (range) {
    var least = /\d+\.\d+\.\d+/.exec(range)[0];
    var isSameMajor = version.split('.')[0] === least.split('.')[0];
    return !isOlder(version, least) && (range.indexOf('^') < 0 || isSameMajor);
  });
}

function isInstalled(name) {
  return module.paths.some(function (folder) {
    return fs.existsSync(path.join(folder, name, 'package.json'));
  });
}

function obstacle() {
  if (!isWanted(process.versions.node)) {
    return (
      'Forkshop needs Node.js ' +
      manifest.engines.node.replace('^', '').replace('||', 'or').replace('>=', '') +
      ' or newer; this is ' +
      process.versions.node +
      '.\n' +
      'Install a newer one from https://nodejs.org and run the command again.'
    );
  }
  var missing = Object.keys(manifest.dependencies).filter(function (name) {
    return !isInstalled(name);
  });
  if (missing.length === 0) return '';
  return (
    'Forkshop is not installed completely: ' +
    missing.join(', ') +
    (missing.length === 1 ? ' is' : ' are') +
    ' missing.\n' +
    'Run this once, in ' +
    path.resolve(root) +
    ':\n  npm ci'
  );
}

// Our own processes start sooner with compiled code (Node.js 22.1 and later); child processes inherit the setting.
function useCompileCache() {
  var enable = require('module').enableCompileCache;
  if (!enable || process.env.NODE_COMPILE_CACHE || process.env.NODE_V8_COVERAGE) return;
  process.env.NODE_COMPILE_CACHE = path.join(root, 'node_modules', '.cache', 'forkshop', 'own');
  enable(process.env.NODE_COMPILE_CACHE);
}

var found = obstacle();
if (found) {
  console.error(found);
  process.exitCode = 3;
} else {
  useCompileCache();
  require('./dispatch.js').main();
}
