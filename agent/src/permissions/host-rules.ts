// Which hosts a rule covers. A rule that denies also covers other names of the same host.
import type { Rule } from './rule.ts'

export type Host = {
  readonly host: string
  /** The addresses that its name resolves to. */
  readonly addresses: readonly string[]
}

/** A host that must not be fetched must not be reached by commands either. */
export function deniesConnection(rule: Rule, host: string): boolean {
  if (rule.tool === 'Network' && rule.type === 'any') return true
  if (rule.tool !== 'Network' && rule.tool !== 'WebFetch') return false
  return deniesHost(rule, { host, addresses: [] })
}

/** A rule for an address also covers names that resolve to it. All addresses of this machine count as one. */
export function deniesHost(rule: Rule, { host, addresses }: Host): boolean {
  if (rule.type !== 'domain') return false
  const names = new Set([host, ...addresses].map(hostName))
  return names.has(hostName(rule.domain)) || [...names].some((name) => coversHost(rule, name, false))
}

function hostName(host: string): string {
  const bare = host.toLowerCase().replace(/^\[|\]$|\.$/g, '')
  const name = /^::ffff:/.test(bare) ? mappedAddress(bare.slice('::ffff:'.length)) : bare
  return /^(?:127\.[\d.]+|0\.0\.0\.0|::1?|(?:.*\.)?localhost)$/.test(name) ? 'localhost' : name
}

/** The IPv4 address in an IPv6 address: `7f00:1` is 127.0.0.1. */
function mappedAddress(text: string): string {
  const [high, low] = text.split(':').map((part) => Number.parseInt(part, 16))
  if (high === undefined || low === undefined) return text
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** A rule for a host on a private network must name it: `*.example.com` does not cover one. */
export function coversHost(rule: Rule, host: string, isPrivate: boolean): boolean {
  if (rule.type === 'any') return !isPrivate
  if (rule.type !== 'domain') return false
  if (!rule.domain.startsWith('*.')) return rule.domain === host
  return !isPrivate && host.endsWith(rule.domain.slice(1))
}
