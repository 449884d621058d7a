import type { NewArticle } from '../domain/articles/articles.ts';

/** A shop's help pages, as the demo's knowledge base has them. They agree with what the sample bot `faq` says. */
export const shopArticles: readonly NewArticle[] = [
  article(
    'Opening hours',
    'opening-hours',
    ['service'],
    [
      'Our shop at Market Street 12 is open Monday to Friday from 9:00 to 18:00. On Saturday it is open from 10:00 to 14:00, and on Sundays and public holidays it is closed.',
      'The chat is staffed by people Monday to Friday from 9:00 to 18:00. At all other times the assistant answers what it can.',
    ],
  ),
  article(
    'Delivery: times and costs',
    'delivery',
    ['delivery'],
    [
      'We ship within one working day. Delivery within the country takes two to four days and costs 4.90 euros; from 50 euros on it is free.',
      '## Express delivery',
      'Express delivery costs 12 euros. What you order before 14:00 arrives on the next working day.',
      '## Delivery abroad',
      'We deliver to all countries of the European Union, Norway and Switzerland in four to eight days for 9.90 euros. Outside of the European Union the customs office may ask you for duties.',
    ],
  ),
  article(
    'Where is my order? Tracking a parcel',
    'tracking',
    ['delivery'],
    [
      'As soon as your parcel leaves our warehouse, we send you an e-mail with the tracking number and a link to the carrier. Tracking shows something from the evening of that day on.',
      'If your parcel has not moved for three working days, write to us: we ask the carrier where it is, and send the goods again if it is lost.',
    ],
  ),
  article(
    'Returns and exchange',
    'returns',
    ['returns'],
    [
      'You can return anything within 30 days, unused and in its packaging. Returning is free: print the label in your customer account and take the parcel to any branch of the carrier. Only gift cards, opened cosmetics and goods made to your order are excepted.',
      '## Exchange',
      'To exchange an article for another size or colour, send it back and order the other one; then you get it soonest.',
    ],
  ),
  article(
    'Refunds: when the money is back',
    'refunds',
    ['returns', 'payment'],
    [
      'We refund a return within three working days after the parcel has reached us, to the account or card that you paid with. Your bank may take another two to five days to show it.',
      'The costs of the first delivery are refunded too if you return the whole order.',
    ],
  ),
  article(
    'Payment methods',
    'payment',
    ['payment'],
    [
      'You can pay by card (Visa, Mastercard, American Express), by PayPal, by bank transfer, or on invoice within 14 days. Invoices are possible for customers within the country, up to 300 euros.',
      'Cards are charged when the parcel is shipped, not when you order.',
    ],
  ),
  article(
    'Vouchers and gift cards',
    'vouchers',
    ['payment'],
    [
      'Enter the code of a voucher or gift card in the basket, above the total. There can be one voucher per order, and any number of gift cards.',
      'A gift card is valid for three years. What is left on it stays on it for your next order.',
    ],
  ),
  article(
    'Warranty and repairs',
    'warranty',
    ['warranty'],
    [
      'All goods come with a warranty of two years, our own lamps and furniture with five years. If something breaks within that time, we repair or replace it free of charge.',
      'Send us a photo of the defect and the number of your order. You need neither the packaging nor the paper invoice.',
    ],
  ),
  article(
    'Change or cancel an order',
    'change-order',
    ['orders'],
    [
      'You can change or cancel an order in your customer account until it is packed, usually for two hours. After that, refuse the parcel at the door or return it: both cost you nothing.',
      'The delivery address can be changed until the parcel is shipped.',
    ],
  ),
  article(
    'Your customer account and password',
    'account',
    ['orders'],
    [
      'You can order with or without a customer account. With one you see your orders, print labels for returns, and keep addresses.',
      'If you forgot your password, choose “Forgot your password?” on the sign-in page: we send you a link that is valid for an hour. We delete your account and its data when you ask us to.',
    ],
  ),
];

function article(title: string, path: string, tags: string[], paragraphs: readonly string[]): NewArticle {
  const url = `https://shop.example.com/help/${path}`;
  return { title, content: paragraphs.join('\n\n'), url, language: 'en', tags, published: true };
}
