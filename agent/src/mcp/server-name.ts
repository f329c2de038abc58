// Valid names of servers in the settings.

/** Contains no `__` and does not end in `_`, so that `mcp__a__b__c` is a tool of only one server. */
export const serverName = /^(?!.*__)(?!.*_$)[A-Za-z0-9_-]{1,64}$/
export const serverNameRule = 'use letters, digits, "-" and single "_", and no "_" at the end'
