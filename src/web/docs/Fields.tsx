import { Line } from "../parts/Markdown.tsx"
import { inlineOf } from "../parts/markdown.ts"
import type { Parameter, Schema, Schemas } from "./document.ts"
import { type Field, fieldsOf, objectsIn, resolve, type Resolved, typeText } from "./schema.ts"

const OPEN_DEPTH = 1
const DEEPEST = 7

const nameOf = ({ name }: Resolved): string => name?.replace(/(?:Encoded|_\d+)$/u, "") ?? "object"

const FieldRow = ({
  depth,
  field: { description, isRequired, name, schema, type },
  schemas,
  within
}: {
  readonly schemas: Schemas
  readonly field: Field
  readonly depth: number
  /** Names of the enclosing schemas. A schema inside itself is not shown again. */
  readonly within: ReadonlyArray<string>
}) => {
  const objects =
    depth >= DEEPEST
      ? []
      : objectsIn(schemas, schema).filter((found) => found.name === null || !within.includes(found.name))
  return (
    <li>
      <p class="line">
        <code class="name">{name}</code> <span class="type">{type}</span>
        {!isRequired && <span class="type"> may be absent</span>}
      </p>
      {description !== "" && (
        <p class="about">
          <Line of={inlineOf(description)} />
        </p>
      )}
      {objects.map((found) => (
        <details key={nameOf(found)} open={depth < OPEN_DEPTH}>
          <summary>{objects.length > 1 ? nameOf(found) : `fields of ${name}`}</summary>
          <FieldList schemas={schemas} of={found} depth={depth + 1} within={within} />
        </details>
      ))}
    </li>
  )
}

const FieldList = ({
  depth,
  of: { name, schema },
  schemas,
  within
}: {
  readonly schemas: Schemas
  readonly of: Resolved
  readonly depth: number
  readonly within: ReadonlyArray<string>
}) => (
  <ul class="fields">
    {fieldsOf(schemas, schema).map((field) => (
      <FieldRow
        key={field.name}
        schemas={schemas}
        field={field}
        depth={depth}
        within={name === null ? within : [...within, name]}
      />
    ))}
  </ul>
)

/** The fields of a body, including the fields of nested objects. */
export const Fields = ({ of: schema, schemas }: { readonly schemas: Schemas; readonly of: Schema }) => {
  const objects = objectsIn(schemas, schema)
  if (objects.length === 0) {
    return (
      <p>
        <span class="type">{typeText(schemas, schema)}</span>
      </p>
    )
  }
  return (
    <>
      {objects.map((found) => (
        <div key={nameOf(found)}>
          {objects.length > 1 && <h3>{nameOf(found)}</h3>}
          <FieldList schemas={schemas} of={found} depth={0} within={[]} />
        </div>
      ))}
    </>
  )
}

/** The parameters of an operation. */
export const Parameters = ({
  of: parameters,
  schemas
}: {
  readonly schemas: Schemas
  readonly of: ReadonlyArray<Parameter>
}) => (
  <ul class="fields">
    {parameters.map(({ description, in: place, name, required, schema }) => {
      const about = description ?? resolve(schemas, schema).schema.description ?? ""
      return (
        <li key={name}>
          <p class="line">
            <code class="name">{name}</code>{" "}
            <span class="type">
              {place}, {typeText(schemas, schema)}
            </span>
            {required && <span class="need"> required</span>}
          </p>
          {about !== "" && (
            <p class="about">
              <Line of={inlineOf(about)} />
            </p>
          )}
        </li>
      )
    })}
  </ul>
)
