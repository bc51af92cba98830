import type { ComponentChildren } from "preact"

/** One entry of a list of facts. */
export const Fact = ({ children, name }: { readonly name: string; readonly children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)
