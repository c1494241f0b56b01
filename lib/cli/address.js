/** Parses IP addresses that a person types. */
import { BlockList, SocketAddress, isIP, isIPv6 } from 'node:net';

/** Ranges in which no board can listen. @type {[why: string, ranges: [network: string, bits: number][]][]} */
const UNUSABLE = [
  [
    'stands for all addresses of this machine',
    [
      ['0.0.0.0', 8],
      ['::', 128],
    ],
  ],
  [
    'is for many machines at once',
    [
      ['224.0.0.0', 3],
      ['ff00::', 8],
    ],
  ],
  ['means another thing on each machine', [['fe80::', 10]]],
];

/**
 * @param {string} text  IPv4 or IPv6 in any spelling, perhaps in brackets
 * @returns {{ address: string, why?: undefined } | { address?: undefined, why: string }}  address: in canonical form; why: the
 *   rest of a sentence that begins with the address
 */
export function parseAddress(text) {
  const [bare] = text.replace(/^\[(.*)\]$/, '$1').split('%'); // without a zone, as in fe80::1%eth0
  if (!isIP(bare)) return { why: "isn't one address" };
  const { address } = new SocketAddress({ address: bare, family: isIPv6(bare) ? 'ipv6' : 'ipv4' });
  const plain = address.replace(/^::ffff:(?=\d+\.)/, ''); // an IPv4-mapped address
  const family = isIPv6(plain) ? 'ipv6' : 'ipv4';
  const [why] = UNUSABLE.find(([, ranges]) => isWithin(plain, family, ranges)) ?? [];
  return why ? { why } : { address: plain };
}

/** @param {'ipv4' | 'ipv6'} family @param {[string, number][]} ranges */
function isWithin(address, family, ranges) {
  const list = new BlockList();
  for (const [network, bits] of ranges)
    if (isIPv6(network) === (family === 'ipv6')) list.addSubnet(network, bits, family);
  return list.check(address, family);
}
