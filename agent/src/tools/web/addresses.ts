// Addresses on this machine or a private network. A request to one may reach services that only this machine may use.
import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'

const blocked = new BlockList()
for (const [address, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const)
  blocked.addSubnet(address, prefix, 'ipv4')
// Includes every range that contains an IPv4 address to which a gateway may connect: compatible, translated, NAT64, Teredo and
// 6to4.
for (const [address, prefix] of [
  ['::', 96],
  ['::ffff:0:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const)
  blocked.addSubnet(address, prefix, 'ipv6')

/** An IPv6 address that maps an IPv4 address counts as the IPv4 address. One with a zone (`%eth0`) is on a network of this machine. */
export function isPrivateAddress(address: string): boolean {
  if (address.includes('%')) return true
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  const family = isIP(mapped ?? address)
  return family === 0 || blocked.check(mapped ?? address, family === 4 ? 'ipv4' : 'ipv6')
}

export type Resolved =
  | { readonly type: 'resolved'; readonly addresses: readonly string[]; readonly isPrivate: boolean }
  | { readonly type: 'failed'; readonly why: string }

/** Private if any of its addresses is private. */
export async function resolveHost(host: string): Promise<Resolved> {
  const bare = host.replace(/^\[|\]$/g, '')
  try {
    const found = isIP(bare) ? [{ address: bare }] : await lookup(bare, { all: true })
    const addresses = found.map(({ address }) => address)
    return { type: 'resolved', addresses, isPrivate: addresses.some(isPrivateAddress) }
  } catch {
    return { type: 'failed', why: `The host ${host} was not found.` }
  }
}
