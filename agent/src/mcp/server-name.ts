// What a server of the settings may be called.

/** Neither `__` nor a `_` at the end: `mcp__a__b__c` must be a tool of one server only. */
export const serverName = /^(?!.*__)(?!.*_$)[A-Za-z0-9_-]{1,64}$/
export const serverNameRule = 'use letters, digits, "-" and single "_", and no "_" at the end'
