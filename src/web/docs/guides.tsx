/** Pages of the reference besides the operations: start, errors, limits. */
import limits from "../../../docs/limits.md?raw"
import { CopyText } from "../parts/CopyText.tsx"
import { Markdown } from "../parts/Markdown.tsx"
import { PlainTable } from "../parts/Table.tsx"
import { useTitle } from "../parts/useTitle.ts"
import { groupsOf, groupTitle } from "./Contents.tsx"
import { type ErrorInfo, errorsOf, isKeyed, type OperationInfo, type Reference } from "./document.ts"
import { useHash } from "./Prose.tsx"
import { firstRequest, type Living } from "./sample.ts"
import { curlOf } from "./snippets.ts"

const FIRST = "spot.quote"

const FirstCall = ({ living, reference }: { readonly reference: Reference; readonly living: Living }) => {
  const operation = reference.operations.find(({ operationId }) => operationId === FIRST)
  if (operation === undefined) {
    return null
  }
  const { schemas } = reference.document.components
  const base = globalThis.location.origin
  const text = curlOf({ operation, schemas, base, ...firstRequest(schemas, operation, living) })
  return (
    <section class="card first" aria-labelledby="first">
      <div class="row spread">
        <h2 id="first">The first request</h2>
        <CopyText text={text} what="the first request" />
      </div>
      <ol>
        <li>
          <a href="/settings/developer">Create a key</a>. Its secret is shown only once.
        </li>
        <li>
          <code>export KEY=svc_…</code>
        </li>
        <li>Price one SOL:</li>
      </ol>
      <pre tabIndex={0} role="region" aria-label="First request">
        <code>{text}</code>
      </pre>
    </section>
  )
}

/** The first page: what the service is, a first request, and every operation. */
export const Start = ({ living, reference }: { readonly reference: Reference; readonly living: Living }) => {
  useTitle("Reference")
  return (
    <article>
      <h1>Reference</h1>
      <Markdown text={reference.document.info.description ?? ""} />
      <FirstCall living={living} reference={reference} />
      {groupsOf(reference).map(({ description, name, operations }) => (
        <section key={name} aria-labelledby={`group-${name}`}>
          <h2 id={`group-${name}`}>{groupTitle(name)}</h2>
          <p class="soft">{description}</p>
          <ul class="operations">
            {operations.map(({ method, operationId, path, summary }) => (
              <li key={operationId}>
                <a href={`/docs/${operationId}`}>{summary ?? operationId}</a>
                <span class="path">
                  <span class="method">{method}</span> <code>{path}</code>
                </span>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </article>
  )
}

/** Error codes with the operations that return them, by status and code. */
const catalogueOf = ({ document, operations }: Reference) => {
  const found = new Map<string, ErrorInfo & { readonly operations: Array<OperationInfo> }>()
  for (const operation of operations) {
    for (const error of errorsOf(document.components.schemas, operation)) {
      const known = found.get(error.code)
      if (known === undefined) {
        found.set(error.code, { ...error, operations: [operation] })
      } else {
        known.operations.push(operation)
      }
    }
  }
  return [...found.values()].toSorted((one, other) => one.status - other.status || one.code.localeCompare(other.code))
}

const MANY = 6

const Operations = ({ of: operations }: { readonly of: ReadonlyArray<OperationInfo> }) =>
  operations.length > MANY ? (
    <>{operations.length} operations</>
  ) : (
    <>
      {operations.map(({ operationId }, place) => (
        <span key={operationId}>
          {place > 0 && ", "}
          <a href={`/docs/${operationId}`}>{operationId}</a>
        </span>
      ))}
    </>
  )

/** Every error code with its status and meaning. */
export const Errors = ({ reference }: { readonly reference: Reference }) => {
  useTitle("Errors")
  useHash("errors")
  return (
    <article>
      <h1>Errors</h1>
      <p>
        An error is <code>{`{"error":{"code","message","details"},"requestId"}`}</code>. Branch on the code: a message
        may change. <code>details</code> names each rejected field of the request. A 429 and a 503 carry{" "}
        <code>Retry-After</code>.
      </p>
      <PlainTable
        label="Error codes"
        head={["Status", "Code", "Meaning", "Returned by"]}
        rows={catalogueOf(reference).map(({ code, meaning, operations, status }) => ({
          id: code,
          cells: [status, <code>{code}</code>, meaning, <Operations of={operations} />]
        }))}
      />
    </article>
  )
}

const isHeaderOfLimits = (name: string): boolean => /^(?:x-ratelimit|ratelimit|retry-after)/iu.test(name)

/** Budgets, their headers, and the cost of every operation. */
export const Limits = ({ reference }: { readonly reference: Reference }) => {
  useTitle("Limits")
  const { headers = {} } = reference.document.components
  return (
    <article>
      <Markdown text={limits} />
      <h2 id="headers">Headers</h2>
      <dl class="terms">
        {Object.entries(headers)
          .filter(([name]) => isHeaderOfLimits(name))
          .map(([name, { description = "" }]) => (
            <div key={name}>
              <dt>
                <code>{name}</code>
              </dt>
              <dd>{description}</dd>
            </div>
          ))}
      </dl>
      <h2 id="costs">Costs and scopes</h2>
      <PlainTable
        label="Costs and scopes"
        head={["Operation", "Scope", "Budget", "Cost"]}
        rows={reference.operations.map((operation) => ({
          cells: [
            <a href={`/docs/${operation.operationId}`}>{operation.operationId}</a>,
            isKeyed(operation) ? operation["x-scopes"]?.join(" or ") || "any key" : "no key",
            operation["x-budget"] ?? "–",
            operation["x-cost"] ?? 0
          ]
        }))}
      />
    </article>
  )
}
