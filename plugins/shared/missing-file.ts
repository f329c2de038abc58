// A file of the agent's that is not there, in words that a person understands.

/** The same error, unless a file is missing. */
export function readableError(error: unknown): unknown {
  const { code, path } = (error ?? {}) as { readonly code?: unknown; readonly path?: unknown }
  if (code !== 'ENOENT') return error
  return new Error(`There is no transcript at ${String(path)}, so nothing can be compared with it.`, { cause: error })
}
