// SPDX-License-Identifier: Apache-2.0

import { connect } from "/client/index.js";

const find = (selector) => document.querySelector(selector);

// The name is in the address of the page: auction/#ann. Each page has a session of its own.
const name = decodeURIComponent(location.hash.slice(1)) || null;
addEventListener("hashchange", () => location.reload());
find("#person").hidden = name !== null;
find("#person").onsubmit = (event) => {
  event.preventDefault();
  location.hash = encodeURIComponent(event.target.elements.name.value);
};

const scheme = location.protocol === "https:" ? "wss" : "ws";
const auction = connect(`${scheme}://${location.host}/`, { frontend: name }).store("auction");

/** Sends an input, and shows the reason if it is refused. */
async function send(input) {
  try {
    await auction.send(input);
    find("#problem").textContent = "";
  } catch (error) {
    find("#problem").textContent = error.message;
  }
}
find("#bid").onsubmit = (event) => {
  event.preventDefault();
  send({ type: "bidPlaced", amount: event.target.elements.amount.valueAsNumber });
};
find("#offer").onsubmit = (event) => {
  event.preventDefault();
  const { title, price, seconds } = event.target.elements;
  send({ type: "offered", item: title.value, price: price.valueAsNumber, seconds: seconds.valueAsNumber });
};

auction.subscribe(({ lot, highest, winner, bids, secondsLeft, watchers }) => {
  const isOpen = secondsLeft > 0;
  find("#lot").hidden = lot === null;
  find("#bid").hidden = !isOpen || name === null || name === lot.seller;
  find("#offer").hidden = isOpen || name === null;
  find("#watchers").textContent = watchers.join(", ");
  if (lot === null) return;
  find("#item").textContent = lot.item;
  find("#seller").textContent = lot.seller;
  find("#time").textContent = isOpen ? `${secondsLeft} seconds left.` : "The auction has ended.";
  find("#highest").textContent =
    winner !== null ? `Sold to ${winner} for ${highest}`
    : highest !== null ? `Highest bid ${highest}` : isOpen ? `Price ${lot.price}` : "Not sold";
  find("#bids").replaceChildren(...bids.map(({ bidder, amount }) => {
    const item = document.createElement("li");
    item.textContent = `${bidder}: ${amount}`;
    return item;
  }));
});
auction.onEvent((event) => {
  document.title = event.type === "sold" ? `Sold: ${event.item}` : `Not sold: ${event.item}`;
});
