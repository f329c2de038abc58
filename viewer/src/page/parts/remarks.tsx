// Short remarks next to each other. A line breaks between remarks, not inside one.
import type { ReactNode } from 'react'

/** Empty remarks are left out. */
export function Remarks({ of }: { readonly of: readonly ReactNode[] }) {
  return (
    <div className="remarks soft quote">
      {of
        .filter((remark) => remark !== '' && remark !== null)
        .map((remark, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: remarks keep their order
          <span key={at}>{remark}</span>
        ))}
    </div>
  )
}
