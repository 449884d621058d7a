const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const headerText = /^[\t\x20-\x7e\x80-\xff]*$/;
// Set by the client, or of use only to lie about who asks.
const reserved =
  /^(host|content-length|connection|transfer-encoding|accept-encoding|keep-alive|upgrade|te|trailers?|expect|proxy-.*)$/;

/** Returns whether requests that users compose may set a header of this name. */
export function isSettableHeader(name: string): boolean {
  return headerName.test(name) && !reserved.test(name.toLowerCase());
}

/** Returns whether a header can have this value. */
export function isHeaderText(text: string): boolean {
  return headerText.test(text);
}
