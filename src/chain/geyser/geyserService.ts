/** The Geyser service for gRPC, with messages as plain objects. Loaded only where a Geyser is used or served. */
import { loadSync, type MethodDefinition } from "@grpc/proto-loader"
import { fileURLToPath } from "node:url"

/** 64-bit integers are digits: a double does not hold every balance. Absent lists are empty. */
const definitions = loadSync(fileURLToPath(new URL("./geyser.proto", import.meta.url)), { longs: String, arrays: true })

/** A method whose messages are trusted to match the schema, because the schema decoded them. */
export type GeyserMethod = MethodDefinition<object, object>

const service = definitions["geyser.Geyser"]

const methodOf = (name: string): GeyserMethod => {
  const method: unknown = service === undefined ? undefined : Reflect.get(service, name)
  if (!isMethod(method)) {
    throw new TypeError(`geyser.proto has no method ${name}`)
  }
  return method
}

const isMethod = (value: unknown): value is GeyserMethod =>
  typeof value === "object" && value !== null && "requestSerialize" in value

/** A stream of updates. Each request replaces the previous one. */
export const subscribeMethod: GeyserMethod = methodOf("Subscribe")

/** The oldest slot that can be replayed. */
export const replayInfoMethod: GeyserMethod = methodOf("SubscribeReplayInfo")
