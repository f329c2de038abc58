// An object of an SDK with some methods of ours.

/** Everything else is the target's own, including methods of later versions of the SDK. */
export function withMethods<Target extends object, Methods extends object>(
  target: Target,
  methods: Methods,
): Target & Methods {
  return new Proxy(target, {
    has: (_, key) => key in methods || key in target,
    get: (_, key) => {
      if (key in methods) return methods[key as keyof Methods]
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  }) as Target & Methods
}
