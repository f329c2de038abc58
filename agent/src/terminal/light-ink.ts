// ink imports one function of es-toolkit through an index that loads 400 more modules, which takes as long as the rest of ink.
import { existsSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

/** Until the returned function is called, that import loads the function alone. */
export function lightenInk(): () => void {
  const hooks = registerHooks({
    resolve: (specifier, context, next) => {
      const found = next(specifier, context)
      if (specifier !== 'es-toolkit/compat' || !/\/ink\//.test(context.parentURL ?? '')) return found
      const url = found.url.replace(/index\.mjs$/, 'function/throttle.mjs')
      return url !== found.url && existsSync(fileURLToPath(url)) ? { ...found, url } : found
    },
  })
  return () => hooks.deregister()
}
