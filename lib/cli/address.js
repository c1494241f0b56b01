/** Addresses of machines, as they are typed. */
import { BlockList, SocketAddress, isIP, isIPv6 } from 'node:net';

/** Why no board can be there; the first that fits. @type {[why: string, ranges: [network: string, bits: number][]][]} */
const UNFIT = [
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
 * @param {string} text  an IPv4 or IPv6 address in any spelling, perhaps in brackets
 * @returns {{ address: string, why?: undefined } | { address?: undefined, why: string }}  address: as all programs write it; why:
 *   no machine can be reached there, as the end of a sentence that begins with the address
 */
export function parseAddress(text) {
  const [bare] = text.replace(/^\[(.*)\]$/, '$1').split('%'); // a zone names a network card of this machine
  if (!isIP(bare)) return { why: "isn't one address" };
  const { address } = new SocketAddress({ address: bare, family: isIPv6(bare) ? 'ipv6' : 'ipv4' });
  const plain = address.replace(/^::ffff:(?=\d+\.)/, ''); // an IPv4 address in the clothes of IPv6
  const family = isIPv6(plain) ? 'ipv6' : 'ipv4';
  const [why] = UNFIT.find(([, ranges]) => isWithin(plain, family, ranges)) ?? [];
  return why ? { why } : { address: plain };
}

function isWithin(
  address,
  /** @type {'ipv4' | 'ipv6'} */ family,
  /** @type {[string, number][]} */ ranges,
) {
  const list = new BlockList();
  for (const [network, bits] of ranges)
    if (isIPv6(network) === (family === 'ipv6')) list.addSubnet(network, bits, family);
  return list.check(address, family);
}
