// The story of the tour: a morning of adding rate limiting to a small web service, with two compactions on the way.
// Everything in it is made up; it is here to be read, counted and reduced.
import { config, operations, readme, routes, server, store } from './files.ts'
import { limiter, plan, proxies } from './first-half.ts'
import { documents, headers, lastLook, twoKeys } from './second-half.ts'
import { Teller } from './teller.ts'

export function tourSession(): string {
  const teller = new Teller({
    'src/server.ts': server,
    'src/routes.ts': routes,
    'src/store.ts': store,
    'src/config.ts': config,
    'docs/operations.md': operations,
    'README.md': readme,
  }).named('Rate limiting for parcel-desk')
  plan(teller)
  limiter(teller)
  proxies(teller)
  headers(teller)
  twoKeys(teller)
  documents(teller)
  lastLook(teller)
  return teller.text
}
