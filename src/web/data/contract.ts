/**
 * The JSON types of the contract, derived from its definition. Types only: nothing of the contract is loaded at run
 * time.
 */
import type { HttpApi, HttpApiGroup } from "effect/http-api"
import type { Api } from "../../api/Api.ts"

type Groups = typeof Api extends HttpApi.HttpApi<infer _Id, infer Found> ? Found : never
type Endpoint = Groups extends infer Group ? HttpApiGroup.Endpoints<Group> : never

type NameOf<E> = E extends { readonly method: infer Method extends string; readonly path: infer Path extends string }
  ? `${Method} ${Path}`
  : never

/** Method and path of an operation, such as `GET /api/v1/prices`. */
export type Operation = NameOf<Endpoint>

type EndpointOf<Name extends Operation, E = Endpoint> = E extends unknown ? (NameOf<E> extends Name ? E : never) : never

type EncodedOf<S> = [S] extends [never]
  ? undefined
  : S extends { readonly schema: { readonly Encoded: infer Encoded } }
    ? Encoded
    : undefined

/** The JSON of a successful answer. Lists that are also answered as CSV have that text beside it. */
export type Answer<Name extends Operation> =
  EndpointOf<Name> extends { readonly "~Success": infer Success } ? Exclude<EncodedOf<Success>, string> : never

/** The query parameters of an operation as text; undefined when it takes none. */
export type QueryOf<Name extends Operation> =
  EndpointOf<Name> extends { readonly "~Query": infer Query } ? EncodedOf<Query> : never

/** The JSON body of an operation; undefined when it takes none. */
export type BodyOf<Name extends Operation> =
  EndpointOf<Name> extends { readonly "~Payload": infer Payload } ? EncodedOf<Payload> : never
