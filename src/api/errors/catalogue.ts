/** Status and default message of every error code of the contract. */
export const catalogue = {
  invalid_request: { status: 400, message: "The request is not valid." },
  invalid_cursor: {
    status: 400,
    message:
      "The cursor is malformed or was made with other selectors: cursor must be the nextCursor of the previous page, with the same parameters."
  },
  invalid_denom: { status: 400, message: "denom must be usd on an EVM chain." },
  invalid_signature: { status: 400, message: "id must be a transaction signature: base58 of 64 bytes." },
  unsupported_chain: { status: 400, message: "chain must be one that this endpoint serves." },
  missing_api_key: { status: 401, message: "Send the API key as a bearer token or as X-API-Key." },
  invalid_api_key: { status: 401, message: "The API key is unknown or revoked." },
  key_disabled: { status: 403, message: "The API key is disabled." },
  missing_scope: { status: 403, message: "The API key lacks the scope of this endpoint." },
  ip_not_allowed: { status: 403, message: "The API key may not be used from this address." },
  session_required: { status: 403, message: "This operation needs a session of the app, not a key." },
  origin_not_allowed: {
    status: 403,
    message: "A change with a session must come from a page of this service, with its X-CSRF-Token."
  },
  owner_required: { status: 403, message: "Only an owner account may do this." },
  request_signature_required: { status: 403, message: "This call must be signed, and signing is not released." },
  feature_unavailable: { status: 403, message: "This version does not offer this feature." },
  not_found: { status: 404, message: "This path does not exist." },
  token_not_found: { status: 404, message: "The token is unknown." },
  pool_not_found: {
    status: 404,
    message: "The pool is not in memory or does not exist: request one of its tokens first."
  },
  launch_not_found: {
    status: 404,
    message: "No launch of this token was seen. It may be older than the record, or on an unknown launchpad."
  },
  wallet_not_found: { status: 404, message: "The wallet is unknown." },
  funding_target_not_found: { status: 404, message: "The network or asset is not in the catalog of this wallet." },
  alert_not_found: { status: 404, message: "The alert is unknown." },
  follow_not_found: { status: 404, message: "The follow is unknown." },
  key_not_found: { status: 404, message: "The key is unknown or can no longer be changed." },
  no_route: { status: 404, message: "No route serves this pair and size." },
  status_not_found: { status: 404, message: "No source knows the transaction yet: try again." },
  method_not_allowed: { status: 405, message: "This path does not accept this method." },
  request_timeout: { status: 408, message: "The request did not arrive in time." },
  cursor_expired: { status: 409, message: "The view of this cursor has expired: start again from the first page." },
  day_not_whole: { status: 409, message: "The day is not whole yet." },
  replay_ended: { status: 409, message: "The replay has ended: start it again." },
  not_a_replay: { status: 409, message: "Only a service that plays a recording takes fills." },
  limit_reached: { status: 409, message: "The account has reached its limit." },
  idempotency_in_flight: { status: 409, message: "A request with this idempotency key is still running." },
  body_too_large: { status: 413, message: "The request body is too large." },
  uri_too_long: { status: 414, message: "The URL is longer than 8 KiB." },
  unsupported_media_type: { status: 415, message: "Send the body as application/json." },
  range_not_satisfiable: { status: 416, message: "The range is outside of the file." },
  expectation_failed: { status: 417, message: "This value of the Expect header is not supported." },
  idempotency_key_reuse: { status: 422, message: "This idempotency key was used for another request." },
  upgrade_required: { status: 426, message: "This path answers plain HTTP only." },
  rate_limited: { status: 429, message: "The budget of this key is spent." },
  headers_too_large: { status: 431, message: "The request headers are too large." },
  internal_error: { status: 500, message: "The service failed to process the request." },
  version_not_supported: { status: 505, message: "Versions 1.1 and 1.0 of HTTP are served." },
  route_not_supported: { status: 501, message: "This kind of route is not served." },
  data_unavailable: { status: 503, message: "A data source is unavailable: try again." },
  state_cold: { status: 503, message: "The pools of this pair are not loaded yet: try again." },
  state_stale: { status: 503, message: "The pool state is too old to quote from." },
  chart_warming: { status: 503, message: "The chart is being built: try again." },
  upstream_timeout: { status: 503, message: "An upstream did not answer in time." },
  upstream_unavailable: { status: 503, message: "An upstream is unavailable." },
  upstream_rate_limited: { status: 503, message: "An upstream limits the request rate of this service." },
  upstream_invalid: { status: 503, message: "An upstream sent an invalid answer." },
  perps_unavailable: { status: 503, message: "No venue is available." },
  limiter_unavailable: { status: 503, message: "The rate limiter is unavailable: try again." }
} as const

/** A stable error code: callers branch on it, never on the message. */
export type ErrorCode = keyof typeof catalogue

/** Default seconds of `Retry-After`: 1 for every 429 and 503, 2 for `status_not_found`, otherwise undefined. */
export const defaultRetryAfter = (code: ErrorCode): number | undefined => {
  if (code === "status_not_found") {
    return 2
  }
  const { status } = catalogue[code]
  return status === 429 || status === 503 ? 1 : undefined
}
