// Names that both halves of the tour's story use: what is to be done, and what the tests are called.

export const goals = [
  'Find out who the clients are and how they are told apart',
  'Write the limiter, with its tests',
  'Put it before the routes',
  'Tell clients when they may come back',
  'Document it',
] as const

export const firstTests = [
  'a burst passes, the next request does not',
  'one token comes back each second',
  "clients do not spend one another's tokens",
]
export const laterTests = [
  ...firstTests,
  'a refusal says when to come back',
  'what remains is counted down',
  'the address the proxy saw is the client',
  'a forged header is not trusted',
  'a key comes before an address',
  'no proxy, no header',
]
export const routeTests = [
  'a parcel by id',
  'an unknown parcel is not found',
  'a page of parcels',
  'the events of a parcel',
  'the health check',
]
export const allTests = [...laterTests, 'full buckets are dropped', ...routeTests]
