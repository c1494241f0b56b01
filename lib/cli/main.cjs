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

function isInstalled(name) {
  return module.paths.some(function (folder) {
    return fs.existsSync(path.join(folder, name, 'package.json'));
  });
}

function obstacle() {
  var wanted = /\d+\.\d+\.\d+/.exec(manifest.engines.node)[0];
  if (isOlder(process.versions.node, wanted)) {
    return (
      'Forkshop needs Node.js ' +
      wanted +
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

var found = obstacle();
if (found) {
  console.error(found);
  process.exitCode = 3;
} else {
  require('./dispatch.js').main();
}
