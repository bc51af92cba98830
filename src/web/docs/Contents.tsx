import { useState } from "preact/hooks"
import type { OperationInfo, Reference } from "./document.ts"
import { Search } from "./Search.tsx"

/** Pages of the reference that do not describe an operation. */
export const guides = [
  ["", "Start"],
  ["guides", "Guides"],
  ["client", "Clients"],
  ["errors", "Errors"],
  ["limits", "Limits"],
  ["numbers", "Numbers"],
  ["live", "Sockets and streams"],
  ["coming-from", "From another service"]
] as const

const groupWords: Readonly<Record<string, string>> = {
  system: "Service",
  account: "Keys",
  sessions: "Sessions of the app",
  accountFunding: "Wallets and funding",
  spot: "Quotes",
  topTraders: "Top traders",
  closed: "Not offered"
}

/** The title of a group of operations. */
export const groupTitle = (tag: string): string => groupWords[tag] ?? tag.charAt(0).toUpperCase() + tag.slice(1)

/** Operations by group, in the order of the document. */
export const groupsOf = ({ document, operations }: Reference) =>
  document.tags.flatMap(({ description = "", name }) => {
    const own = operations.filter(({ tags }) => tags[0] === name)
    return own.length === 0 ? [] : [{ name, description, operations: own }]
  })

const Item = ({ current, operation }: { readonly operation: OperationInfo; readonly current: string }) => (
  <li>
    <a href={`/docs/${operation.operationId}`} aria-current={operation.operationId === current ? "page" : undefined}>
      <span class="method">{operation.method}</span> <span>{operation.summary ?? operation.operationId}</span>
    </a>
  </li>
)

const Group = ({
  current,
  group: { name, operations }
}: {
  readonly current: string
  readonly group: ReturnType<typeof groupsOf>[number]
}) => (
  <details open={operations.some(({ operationId }) => operationId === current)}>
    <summary>{groupTitle(name)}</summary>
    <ul>
      {operations.map((operation) => (
        <Item key={operation.operationId} operation={operation} current={current} />
      ))}
    </ul>
  </details>
)

/** The navigation of the reference: search, guides, operations by group. On narrow screens the lists are folded. */
export const Contents = ({ current, reference }: { readonly reference: Reference; readonly current: string }) => {
  const [isUnfolded, setUnfolded] = useState(false)
  return (
    <nav class="contents" aria-label="Reference">
      <Search reference={reference} />
      <button
        type="button"
        class="unfold"
        aria-expanded={isUnfolded}
        aria-controls="contents"
        onClick={() => setUnfolded(!isUnfolded)}
      >
        All operations
      </button>
      <div id="contents" class={isUnfolded ? "lists unfolded" : "lists"}>
        <ul>
          {guides.map(([page, title]) => (
            <li key={page}>
              <a href={page === "" ? "/docs" : `/docs/${page}`} aria-current={page === current ? "page" : undefined}>
                {title}
              </a>
            </li>
          ))}
          <li>
            <a href="/changelog">Changes</a>
          </li>
        </ul>
        {groupsOf(reference).map((group) => (
          <Group key={group.name} group={group} current={current} />
        ))}
      </div>
    </nav>
  )
}
