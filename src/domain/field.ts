import { Schema } from "effect"

/**
 * A property with its description in the documents. The schema itself keeps its own description, for the other places where it
 * is used. A schema that encodes to something else is described on the encoded side, because the documents show that side.
 */
export const field = <S extends Schema.Top>(schema: S, description: string): S["Rebuild"] =>
  schema.ast.encoding === undefined
    ? schema.annotateKey({ description })
    : schema.pipe(Schema.annotateEncoded({ description }))
