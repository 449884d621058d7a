declare module '*.css' {
  /** In the widget the text of the styles; in pages nothing, as their styles are a file of their own. */
  const text: string;
  export default text;
}

declare module '*.svg' {
  const url: string;
  export default url;
}
