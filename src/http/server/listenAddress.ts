/** Checks the address that the service listens on before anything is started. */
import { Effect, Schema } from "effect"
import { createServer } from "node:net"

/** The service cannot listen on the address. */
export class AddressUnusable extends Schema.TaggedError<AddressUnusable>()("AddressUnusable", {
  host: Schema.String,
  port: Schema.Int,
  /** Error code of the operating system. */
  code: Schema.String
}) {
  override get message(): string {
    const at = `${this.host}:${this.port}`
    switch (this.code) {
      case "EADDRINUSE":
        return `PORT: another process listens at ${at}. Set PORT to another port, or to 0 for a free one.`
      case "EACCES":
        return `PORT: this user may not listen at ${at}.`
      default:
        return `HOST: the service cannot listen on ${at} (${this.code}).`
    }
  }
}

/** Listens at the address for a moment. */
export const checkAddress = ({ host, port }: { readonly host: string; readonly port: number }) =>
  Effect.callback<void, AddressUnusable>((resume) => {
    const server = createServer()
    server.once("error", (cause: NodeJS.ErrnoException) =>
      resume(Effect.fail(new AddressUnusable({ host, port, code: cause.code ?? cause.message })))
    )
    server.listen({ host, port }, () => server.close(() => resume(Effect.void)))
  })
