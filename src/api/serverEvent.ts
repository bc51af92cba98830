import { Schema } from "effect"
import { field } from "../domain/field.ts"

/** A frame of a stream as a server-sent event. */
export const serverEvent = <const Name extends string, Data extends Schema.Top>(name: Name, data: Data) =>
  Schema.Struct({
    id: field(Schema.optional(Schema.String), "Id of the frame."),
    event: field(Schema.Literal(name), "Name of the frame."),
    data: Schema.fromJsonString(data)
  })
