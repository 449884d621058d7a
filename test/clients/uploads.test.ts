import { expect } from 'chai';
import { noise, storedFiles, type TestFile } from '../support/files.ts';
import { bases, startField, type BaseName, type FieldHome, type Found } from '../support/field-clients.ts';
import { connectSdk, type Sdk, type SdkError } from '../support/field-sdk.ts';
import { misnamed, polyglots, saved } from '../support/upload-corpus.ts';

/** What becomes of a file: how it is shown, or what its refusal says. */
type Fate = { shown: string } | { refused: readonly [status: number, text: string] };

const rows: readonly (readonly [title: string, file: TestFile, fate: Fate])[] = [
  ...Object.entries(saved).map(([title, file]) => [title, file, { shown: 'attachment' }] as const),
  ...Object.entries(polyglots).map(([title, [file]]) => [title, file, { shown: 'inline' }] as const),
  ...Object.entries(misnamed).map(
    ([title, file]) => [title, file, { refused: [422, 'is not what its name says'] }] as const,
  ),
  [
    '10,001 KB',
    { name: 'large.bin', bytes: noise(10_001_000) },
    { refused: [413, 'large.bin is larger than 10000000 bytes'] },
  ],
  ['a path for its name', { name: '../../etc/passwd', bytes: Buffer.from('root') }, { shown: 'attachment' }],
];

// The SDK gives its forms in parts without a length, and a type by the file's name.
for (const base of Object.keys(bases) as BaseName[]) {
  describe(`files that the JavaScript SDK sends to the ${base}`, function () {
    this.timeout(60_000);
    let home: FieldHome;
    let sdk: Sdk;
    let conversation: number;

    before(async () => {
      home = await startField(base);
      sdk = connectSdk(home.url, home.token);
      conversation = await home.maker.conversation(home.inbox);
    });

    beforeEach(async () => {
      await home.app.query('DELETE FROM attachments');
      await home.app.events();
    });

    after(() => home.app.stop());

    const send = ({ name, bytes }: TestFile): Promise<Found> =>
      sdk('messages.create', {
        accountId: 1,
        conversationId: conversation,
        data: {
          content: 'x',
          message_type: 'outgoing',
          attachments: [{ content: bytes.toString('base64'), encoding: 'base64', filename: name }],
        },
      });

    async function expectShown(file: TestFile, how: string): Promise<void> {
      const { attachments } = await send(file);
      expect(attachments).to.have.lengthOf(1);
      expect(attachments[0].file_name).to.equal(file.name.split('/').at(-1));
      const response = await fetch(attachments[0].data_url);
      expect(response.headers.get('content-disposition')).to.match(new RegExp(`^${how};`));
      expect(response.headers.get('x-content-type-options')).to.equal('nosniff');
      expect(response.headers.get('content-security-policy')).to.match(/^default-src 'none'/);
      if (how === 'attachment') expect(response.headers.get('content-type')).not.to.match(/html|xml;|svg|script/);
      expect(Buffer.from(await response.arrayBuffer()).equals(file.bytes)).to.equal(true);
      expect(await home.app.eventNames()).to.deep.equal(['message_created']);
    }

    async function expectRefused(file: TestFile, [status, text]: readonly [number, string]): Promise<void> {
      const error = await send(file).then(
        () => expect.fail('It must be refused'),
        (thrown: SdkError) => thrown,
      );
      expect(error.status, JSON.stringify(error.body)).to.equal(status);
      expect(error.body.error).to.include(text);
      expect(await storedFiles(home.app)).to.deep.equal({ files: 0, unsent: 0, chunks: 0 });
      expect(await home.app.eventNames()).to.deep.equal([]);
    }

    for (const [title, file, fate] of rows)
      it(`${'shown' in fate ? `is sent, shown as ${fate.shown}` : `is refused by ${fate.refused[0]}`}: ${title}`, () =>
        'shown' in fate ? expectShown(file, fate.shown) : expectRefused(file, fate.refused));
  });
}
