// ink loads more than it uses. It imports one function of es-toolkit through an index that loads 400 more modules, which takes as
// long as the rest of ink. And its layout engine, yoga, fetches its own code from a data URL if there is `fetch`, which loads Node's
// HTTP client: 50 ms and 17 MB.
import { existsSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

/** Until the returned function is called, that import loads the function alone, and there is no `fetch`. */
export function lightenInk(): () => void {
  const { fetch } = globalThis
  Reflect.set(globalThis, 'fetch', undefined)
  const hooks = registerHooks({
    resolve: (specifier, context, next) => {
      const found = next(specifier, context)
      if (specifier !== 'es-toolkit/compat' || !/\/ink\//.test(context.parentURL ?? '')) return found
      const url = found.url.replace(/index\.mjs$/, 'function/throttle.mjs')
      return url !== found.url && existsSync(fileURLToPath(url)) ? { ...found, url } : found
    },
  })
  return () => {
    hooks.deregister()
    globalThis.fetch = fetch
  }
}
