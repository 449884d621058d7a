/** Texts that would run code wherever they were taken for markup, a script, a style or the address of a link. */
export const xssTexts: readonly string[] = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(2)>',
  '"><svg onload=alert(3)>',
  "'-alert(4)-'",
  '</textarea><iframe srcdoc="<script>parent.alert(5)</script>">',
  'javascript:alert(6)',
  'https://example.com/"onmouseover="alert(7)',
  'http://example.com/<img src=x onerror=alert(8)>',
  '[link](javascript:alert(9)) <a href="javascript:alert(9)">link</a>',
  '{{constructor.constructor("alert(10)")()}} ${alert(10)}',
  '<style>@import "data:text/css,*{background:url(javascript:alert(11))}"</style>',
  '<math><mtext></form><form><mglyph><style></math><img src onerror=alert(12)>',
  '\u202e<b onclick=alert(13)>\u2066right to left',
  'data:text/html,<script>alert(14)</script>',
];
