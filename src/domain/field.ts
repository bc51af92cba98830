import { Schema } from "effect"

/**
 * A property with its description in the documents. The schema itself keeps its own description for the other places
 * that use it. A schema that encodes to another type is described on the encoded side, which the documents show.
 */
export const field = <S extends Schema.Top>(schema: S, description: string): S["Rebuild"] =>
  schema.ast.encoding === undefined
    ? schema.annotateKey({ description })
    : schema.pipe(Schema.annotateEncoded({ description }))
