// Every way in which a call or a connection fails.

/** A call that the daemon answered with an error. */
export class RoostError extends Error {
  override name = "RoostError";

  constructor(
    /** One of `ERRORS`. */
    readonly code: number,
    message: string,
    /** `code` as a word, and what the error is about. */
    readonly data: Record<string, unknown>,
  ) {
    super(message);
  }
}

/** There is no connection. A call that was waiting for its answer may or may not have been carried out. */
export class ConnectionLost extends Error {
  override name = "ConnectionLost";
}

/** There was no connection to send the call over, so it was not carried out. */
export class NotConnected extends ConnectionLost {
  override name = "NotConnected";
}

/** The daemon refused the token or code: it is wrong, has expired or was revoked. If a fresh one is refused, pair again. */
export class TokenRefused extends NotConnected {
  override name = "TokenRefused";
}
