// The limit of a bot's reply: a child process that makes an isolate for each run, lets a few words of code answer in it, and
// throws it away. Nothing is hardened, queued, read or written.
import ivm from 'isolated-vm';

const heapMb = 64;
const code = `globalThis.answer = (text) => JSON.stringify({ reply: text.toLowerCase().split(' ').join(', ') })`;

process.on('message', (text: string) => {
  const isolate = new ivm.Isolate({ memoryLimit: heapMb });
  const context = isolate.createContextSync();
  isolate.compileScriptSync(code).runSync(context);
  const reply: unknown = context.evalClosureSync('return answer($0)', [text]);
  isolate.dispose();
  process.send?.(reply);
});
process.send?.('ready');
