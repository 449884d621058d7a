/** Has the browser save lines of JSON as a file. */
export function downloadLines(fileName: string, lines: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([lines], { type: 'application/x-ndjson' }));
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(link.href);
}
