import { useEffect, useMemo, useState } from "preact/hooks"
import { Facts } from "../parts/Facts.tsx"
import { Markdown } from "../parts/Markdown.tsx"
import { PlainTable } from "../parts/Table.tsx"
import { useTitle } from "../parts/useTitle.ts"
import { Code } from "./Code.tsx"
import { errorsOf, isKeyed, type OperationInfo, proseOf, type Reference, successOf } from "./document.ts"
import { Fields, Parameters } from "./Fields.tsx"
import type { FormValues } from "./RequestForm.tsx"
import { firstRequest, type Living, sampleOf } from "./sample.ts"
import { TryIt } from "./TryIt.tsx"

const Admission = ({ of: operation }: { readonly of: OperationInfo }) => {
  const { "x-budget": budget, "x-cost": cost, "x-scopes": scopes = [] } = operation
  if (!isKeyed(operation)) {
    return <p class="soft">Public: no key is needed.</p>
  }
  return (
    <Facts
      isNarrow
      of={[
        ["Scope", scopes.length === 0 ? "any key" : scopes.join(" or ")],
        ["Cost", budget === null || budget === undefined ? "free" : `${cost ?? 0} of the ${budget} budget`]
      ]}
    />
  )
}

const Errors = ({ of: operation, reference }: { readonly of: OperationInfo; readonly reference: Reference }) => (
  <PlainTable
    label="Errors"
    head={["Status", "Code", "Meaning"]}
    rows={errorsOf(reference.document.components.schemas, operation).map(({ code, meaning, status }) => ({
      cells: [
        status,
        <a href={`/docs/errors#${code}`}>
          <code>{code}</code>
        </a>,
        meaning
      ]
    }))}
  />
)

const Answer = ({
  living,
  of: operation,
  reference
}: {
  readonly of: OperationInfo
  readonly reference: Reference
  readonly living: Living
}) => {
  const { schemas } = reference.document.components
  const success = successOf(operation)
  if (success === null) {
    return <p class="soft">No body.</p>
  }
  const { media, status, type } = success
  return (
    <>
      <p class="soft">
        {status}, {type}
      </p>
      <Fields schemas={schemas} of={media.schema} />
      <details class="example">
        <summary>Example</summary>
        <pre tabIndex={0} role="region" aria-label="Example of the answer">
          <code>{JSON.stringify(sampleOf(schemas, media, living, false), null, 2)}</code>
        </pre>
      </details>
    </>
  )
}

/** Operations that only the app itself calls. They cannot be tried out. */
const isOfTheApp = ({ tags }: OperationInfo): boolean => tags.includes("sessions")

/** One operation: prose, code, a form to try it, parameters, answer and errors. */
export const OperationPage = ({
  living,
  operation,
  reference
}: {
  readonly reference: Reference
  readonly operation: OperationInfo
  readonly living: Living
}) => {
  const { method, operationId, parameters = [], path, requestBody, summary = operationId } = operation
  const { schemas } = reference.document.components
  useTitle(summary)
  const first = useMemo(() => firstRequest(schemas, operation, living), [schemas, operation, living])
  const [form, setForm] = useState<FormValues>(first)
  useEffect(() => setForm(first), [first])
  const request = { operation, schemas, base: globalThis.location.origin, ...form }
  const body = requestBody?.content?.["application/json"]
  return (
    <article class="operation">
      <h1>{summary}</h1>
      <p class="path">
        <span class="method">{method}</span> <code>{path}</code>
      </p>
      <Markdown text={proseOf(operation)} />
      <Admission of={operation} />
      <section class="card" aria-label="Code">
        <Code request={request} />
      </section>
      {!isOfTheApp(operation) && (
        <section class="card" aria-labelledby="try">
          <h2 id="try">Try it</h2>
          <TryIt operation={operation} schemas={schemas} form={form} request={request} onChange={setForm} />
        </section>
      )}
      {parameters.length > 0 && (
        <section aria-labelledby="parameters">
          <h2 id="parameters">Parameters</h2>
          <Parameters schemas={schemas} of={parameters} />
        </section>
      )}
      {body !== undefined && (
        <section aria-labelledby="body">
          <h2 id="body">Body</h2>
          <Fields schemas={schemas} of={body.schema} />
        </section>
      )}
      <section aria-labelledby="answer">
        <h2 id="answer">Answer</h2>
        <Answer of={operation} reference={reference} living={living} />
      </section>
      <section aria-labelledby="errors">
        <h2 id="errors">Errors</h2>
        <Errors of={operation} reference={reference} />
      </section>
    </article>
  )
}
